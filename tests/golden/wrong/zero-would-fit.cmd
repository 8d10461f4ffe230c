nestc check --solve zero-would-fit.nest 2>&1 | sed "s/needs .*/needs too much/; s/ holds .*/ holds/; s/, with [0-9.]* GiB.*//"
