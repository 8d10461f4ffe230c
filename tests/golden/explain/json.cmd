# The parts of the difference add up to it.
nestc explain idea.nest --why-not='tensor = 8, pipeline = 2' --json | awk '/"difference"/ { on = 1 } on && /"time"/ { gsub(/[",]/, ""); time = $NF } on && /"breakdown"/ { parts = 1; next } on && parts && /}/ { parts = 0 } on && parts { gsub(/[",]/, ""); sum += $2 } END { d = sum - time; print (d < 1e-9 && d > -1e-9 && time > 0) ? "adds up" : "off by " d }'
nestc explain idea.nest --why-not='tensor = 8, pipeline = 2' --json | sed 's/: -*[0-9.]*e*-*[0-9]*\(,*\)$/: N\1/'
nestc explain idea.nest --why-not='data = 3' --json | sed -n '/"reasons"/,$p'
nestc explain idea.nest --why-not='zero = 3' --json | grep -A1 excluded
nestc explain idea.nest --top=2 --json | sed 's/: -*[0-9.]*e*-*[0-9]*\(,*\)$/: N\1/'
