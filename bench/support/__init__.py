"""What the programs in bench/ share. Standard library only."""
