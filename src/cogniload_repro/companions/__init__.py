"""What the paper's neighbours propose: puzzles perturbed, one load number, earlier versions."""
