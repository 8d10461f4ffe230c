# SPDX-License-Identifier: MIT
#
# Says of a manifest whether its plan is near the bound (`gap`, default a fifth) and
# uses the devices as people reach (`low` to `high` MFU).
$1 == "\"gap\":" { gap = $2 + 0; found++ }
$1 == "\"mfu\":" { mfu = $2 + 0; found++ }
END {
	limit = limit ? limit : 0.2
	if (found != 2)
		print "no plan"
	else if (gap >= limit)
		print "gap " gap
	else if (mfu < low || mfu > high)
		print "MFU " mfu
	else
		print "a plan within " 100 * limit " % of the bound, MFU between " 100 * low " and " 100 * high " %"
}
