about   accepts a^n b^n, such as aabb
symbols a b X $
start   s
accept  acc
reject  rej

s     _   -> last $ L   // mark the right end
last  b   -> first X L  // cross out the last b
last  X|_ -> acc X N    // nothing is left
first a|b -> first = L  // go to the first letter
first X|_ -> match X R
match a   -> right X R  // cross out the first a
right a|b -> right = R
right X|$ -> last = L
