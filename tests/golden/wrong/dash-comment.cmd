nestc check dash-comment.nest
