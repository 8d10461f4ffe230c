#!/bin/sh
# SPDX-License-Identifier: MIT
#
# embed.sh SYMBOL ROOT FILE..: prints C that defines the array SYMBOL of
# struct embedded_file, one entry a file named relative to ROOT, ended by NULL.
set -eu

symbol=$1
root=$2
shift 2

echo '/* Made by lang/embed.sh; do not edit. */'
echo '#include "lang/compilation.h"'
number=0
for file; do
	echo "static const unsigned char file_$number[] = {"
	od -An -v -tx1 "$root/$file" | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
	echo '0 };'
	number=$((number + 1))
done
echo "const struct embedded_file $symbol[] = {"
number=0
for file; do
	echo "	{ \"$file\", (const char *)file_$number, sizeof(file_$number) - 1 },"
	number=$((number + 1))
done
echo '	{ 0 }'
echo '};'
