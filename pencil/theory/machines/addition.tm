about   adds in unary: 111+11 leaves 11111, with 0 as the blank that remains
symbols 1 + 0
start   s
accept  acc
reject  rej

s    _   -> last 0 L
last 1   -> join 0 L    // take the last 1
last +   -> acc 0 N     // adding nothing: only the sign goes
join 1   -> join 1 L
join +   -> acc 1 N     // and put it in the place of the sign
