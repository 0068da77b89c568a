word = "helped"
