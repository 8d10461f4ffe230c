nestc check lint.nest
nestc check lint.nest -Wno-unused-import -W no-unused-let -Wno-unused-parameter -Wno-unused-param
nestc check lint.nest -E unused-param -Wno-unused-import -W no-unused-let -Wno-unused-parameter
nestc check lint.nest -Werror -q 2>&1 | grep -c error
nestc check lint.nest -q
nestc check lint.nest -W unused-imports
nestc check lint.nest -E everything
