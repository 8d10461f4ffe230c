# Figures are those of the cost model, which other tests are about.
nestc explain idea.nest --why-not='tensor = 8, pipeline = 2' | sed 's/[0-9.][0-9.]* [mu]*s /TIME /g; s/[-+0-9.]* [GM]iB/BYTES/g; s/[-+]*[0-9.]* %/SHARE/g; s/  */ /g'
nestc explain idea.nest --why-not='tensor in { 4, 8 } pipeline = 4' | sed -n '/asked for  /p;/^Proof/p' | head -1
nestc explain idea.nest --why-not='micro_batch = 4' | grep ^Search
nestc explain idea.nest --why-not='zero = 3' | grep ^Search
nestc explain idea.nest --why-not='tensor = 2, shard_level = 1, zero = 1' | grep ^Search
nestc explain idea.nest --why-not='schedule = gpipe, tensor = 2' | grep -E '^Search|asked for  .*GPipe'
nestc explain idea.nest --plan=ours --why-not='pipeline = 2' | grep -v '[0-9] *s '
nestc explain ../cli/mixed.nest --job=both --why-not='tensor = 4' | sed -n '4,5p'
nestc explain ../cli/mixed.nest --job=both --why-not='tensor = 3' | grep -c E0560
nestc explain ../graph/plan.nest --why-not='pipeline = 2' | grep -c '^  asked for  .*pipeline 2'
nestc explain ../graph/plan.nest --top=2 | grep -c '^   [12] '
sed 's/tensor  *in .*/tensor in { 8 }/' idea.nest | nestc explain - --why-not='tensor = 1' | sed -n '/^It/p;/^Search/,/^$/p' | sed 's/is .*faster.*/is faster/'
