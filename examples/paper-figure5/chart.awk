# SPDX-License-Identifier: MIT
#
# Draws grouped bars as SVG. Input: tab-separated rows of panel, group, series
# and value ("-": no bar), in the order in which they are drawn. Variables: title,
# unit (of the vertical axis), ceiling (its end), step (between its lines).

BEGIN {
	FS = "\t"
	colours = "#0b6e4f #c97b1f #6a4c93 #1f77b4 #b23a48"
	colour_count = split(colours, colour, " ")
}

function number(list, index_of, key, count) {
	if (!(key in index_of)) {
		index_of[key] = ++count
		list[count] = key
	}
	return count
}

{
	panels = number(panel, panel_index, $1, panels + 0)
	groups = number(group, group_index, $2, groups + 0)
	series_count = number(series, series_index, $3, series_count + 0)
	value[panel_index[$1], group_index[$2], series_index[$3]] = $4
}

function y_of(v) {
	return top + height * (1 - v / ceiling)
}

function text(x, y, anchor, size, words) {
	printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\">%s</text>\n", \
		x, y, anchor, size, words
}

function draw_bar(x, v, s) {
	if (v == "-" || v == "") {
		text(x + bar / 2, top + height - 3, "middle", 9, "&#215;")
		return
	}
	printf "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", \
		x, y_of(v), bar - 0.6, top + height - y_of(v), colour[s]
}

function draw_panel(p,    x, g, s, v) {
	x = left + (p - 1) * (width + gap)
	for (v = 0; v <= ceiling + step / 1000; v += step) {
		printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ccc\"/>\n", \
			x, y_of(v), x + width, y_of(v)
		if (p == 1)
			text(x - 5, y_of(v) + 4, "end", 11, v)
	}
	text(x + width / 2, top - 8, "middle", 13, panel[p])
	for (g = 1; g <= groups; g++) {
		for (s = 1; s <= series_count; s++)
			draw_bar(x + (g - 1) * slot + bar / 2 + (s - 1) * bar, value[p, g, s], s)
		text(x + (g - 0.5) * slot, top + height + 14, "middle", 10, group[g])
	}
}

END {
	left = 56; top = 64; height = 190; gap = 14; width = 190
	slot = width / groups
	bar = slot / (series_count + 1)
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\">\n", \
		left + panels * (width + gap), top + height + 50
	printf "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
	text(left, 20, "start", 15, title)
	printf "<text transform=\"translate(14 %.1f) rotate(-90)\" text-anchor=\"middle\" font-size=\"12\">%s</text>\n", \
		top + height / 2, unit
	for (p = 1; p <= panels; p++)
		draw_panel(p)
	for (s = 1; s <= series_count; s++) {
		printf "<rect x=\"%.1f\" y=\"30\" width=\"11\" height=\"11\" fill=\"%s\"/>\n", \
			left + (s - 1) * 175, colour[s]
		text(left + 16 + (s - 1) * 175, 40, "start", 12, series[s])
	}
	text(left + panels * (width + gap) / 2, top + height + 36, "middle", 12, "devices")
	print "</svg>"
}
