about   accepts words of a and b that read the same from both ends, such as abba
symbols a b X $
start   s
accept  acc
reject  rej

s    _   -> pick $ L    // mark the right end
pick a   -> ga X L      // remember the last letter and cross it out
pick b   -> gb X L
pick X|$ -> acc = N     // nothing is left
pick _   -> acc X N
ga   a|b -> ga = L      // go to the first letter
gb   a|b -> gb = L
ga   X|_ -> ca X R
gb   X|_ -> cb X R
ca   a   -> gr X R      // compare it
ca   b   -> rej = N
ca   X|$ -> acc = N     // the middle letter stands alone
cb   b   -> gr X R
cb   a   -> rej = N
cb   X|$ -> acc = N
gr   a|b -> gr = R      // go to the last letter
gr   X|$ -> pick = L
