about   accepts an even number of ones, such as 1001
symbols 0 1 $
start   s
accept  acc
reject  rej

s    _ -> even $ L
even 0 -> even = L
even 1 -> odd = L
odd  0 -> odd = L
odd  1 -> even = L
even _ -> acc $ N
odd  _ -> rej $ N
