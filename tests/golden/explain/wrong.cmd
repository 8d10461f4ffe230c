nestc explain idea.nest --why-not='tensr = 8'
nestc explain idea.nest --why-not='tp = 8'
nestc explain idea.nest --why-not='tensor 8, pipeline 4'
nestc explain idea.nest --why-not='tensor = 8 tensor = 4'
nestc explain idea.nest --why-not='recompute = some'
nestc explain idea.nest --why-not='zero = 7'
nestc explain idea.nest --why-not='memory = 60GiB'
nestc explain idea.nest --why-not='tensor = 8 *'
nestc explain idea.nest --why-not='tensor = device'
nestc explain idea.nest --why-not='tensor in { }'
nestc explain idea.nest --why-not='tensor <= 8'
nestc explain idea.nest --why-not=' '
nestc explain idea.nest --why-not='tensor = 8' --top=3
nestc explain idea.nest --top=0
nestc explain idea.nest --top=many
nestc explain idea.nest --json
nestc explain missing.nest --why-not='tensor = 8'
