SELECT at FROM pulse WHERE one = 1
