"""What agents say of their packets, folded into what memories are worth to them."""
