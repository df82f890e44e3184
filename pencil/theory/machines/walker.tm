about   walks to the far left end and back for each letter, which makes long states; input such as aaaa
symbols a X y $
start   s
accept  acc
reject  rej

s    _     -> find $ L  // mark the right end
find X     -> find X L
find a     -> left X L  // the rightmost letter that is left
find y|_   -> acc y N
left X|a|y -> left = L
left _     -> back y R  // one cell more than the time before
back y|a|X -> back = R
back $     -> find $ L
