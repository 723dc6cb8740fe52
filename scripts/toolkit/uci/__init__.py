"""What UCI allows: its grammar, a judge of conversations, and interviews of engines that are judged."""
