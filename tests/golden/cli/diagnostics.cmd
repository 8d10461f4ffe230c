nestc check diagnostics.nest
nestc check diagnostics.nest --color=always
nestc check diagnostics.nest --diagnostics=json
nestc check diagnostics.nest missing.nest --diagnostics=sarif 2>&1 | sed -n 's,"ruleIndex.*,"ruleIndex": ..,; /"results"/,$p'
nestc check diagnostics.nest tiny.nest -q
