SELECT gannet_now() AS now
