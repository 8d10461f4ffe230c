nestc check batch-product.nest
