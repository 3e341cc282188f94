DELETE FROM claims WHERE done = 0
