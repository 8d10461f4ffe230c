nestc check c-comment.nest
