"""Monte-Carlo tree search on histories, which BAMCP, POMCP and BA-POMCP share."""
