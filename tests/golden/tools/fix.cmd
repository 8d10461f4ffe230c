# nothing is written without the word
nestc check fixable.nest
nestc check --fix --diff fixable.nest
# what is left is reported; the second time there is nothing to do
cp fixable.nest fixed.nest; nestc check --fix fixed.nest; cat fixed.nest
nestc check --fix --diff -q fixed.nest; rm fixed.nest
# standard input goes to standard output, under the name it is given
sed '/^import/d' fixable.nest | nestc check --fix -q - --stdin-name=train.nest
nestc check --fix --diagnostics=json --diff fixable.nest 2>&1 | grep -c '"applicability":"safe"'
# only files named on the command line change; one that is right stays as it is
nestc check --fix --diff hiding.nest empty.nest -q
nestc check --diff fixable.nest
nestc check --fix nowhere.nest
nestc check --fix unclosed.nest
