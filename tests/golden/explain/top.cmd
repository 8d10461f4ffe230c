nestc explain idea.nest --top=4 | sed 's/[0-9.][0-9.]* [mu]*s /TIME /g; s/[-+0-9.]* [GM]iB/BYTES/g; s/[-+]*[0-9.]* %/SHARE/g; s/  */ /g'
nestc explain idea.nest --top=50 --plan=ours | tail -1
sed 's/^}$/minimize cost }/; /plan ours/d' idea.nest | nestc explain - --top=2 | sed -n '3,5p' | sed 's/[0-9.][0-9.]* [mu]*s /TIME /g; s/[-+0-9.]* [GM]iB/BYTES/g; s/[-+]*[0-9.]* %/SHARE/g; s/0\.[0-9]*/COST/; s/  */ /g'
