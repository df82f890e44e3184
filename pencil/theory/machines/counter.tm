about   counts a binary number up until it overflows; input # and zeros, such as #0000
symbols 0 1 # $
start   s
accept  acc
reject  rej

s   _   -> inc $ L      // mark the right end
inc 1   -> inc 0 L      // carry
inc 0   -> ret 1 R
inc #   -> acc # N      // the carry left the number
ret 0|1 -> ret = R
ret $   -> inc $ L
