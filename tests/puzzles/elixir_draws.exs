# Prints draws of those of Elixir's own functions that draw alike in all versions, for test_rng.py to compare with ours.
# After each draw, one more number shows where the generator stands.
seeds = [0, 1, 42, 770_487, 999_999, 2_097_151, 2_097_152, 123_456_789_012]
sizes = [2, 3, 4, 5, 7, 10, 12, 13, 33, 159]

show = fn name, arguments, drawn ->
  state = :rand.uniform(1_000_000_007)
  IO.puts(Enum.join([name | arguments] ++ ["=" | List.wrap(drawn)] ++ ["then", state], " "))
end

for seed <- seeds do
  :rand.seed(:exs1024, {seed, seed, seed})
  show.("seed", [seed], [])

  for _ <- 1..40 do
    <<bits::64>> = <<:rand.uniform()::float>>
    show.("uniform", [], bits)
  end

  for n <- sizes do
    show.("random", [n], Enum.random(Enum.to_list(0..(n - 1))))
  end

  show.("range", [100_000, 999_999], Enum.random(100_000..999_999))
end

for n <- [20, 50, 100, 250], ratio <- [5, 10, 25, 50, 75, 90, 95] do
  IO.puts("needles #{n} #{ratio} = #{round(n * ratio / 100)}")
end
