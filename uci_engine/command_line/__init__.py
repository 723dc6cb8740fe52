"""What `secateur COMMAND` does: the arguments, the commands, and the output for people."""
