SELECT gap FROM host_paces WHERE host = $1
