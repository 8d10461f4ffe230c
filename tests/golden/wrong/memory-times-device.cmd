nestc check memory-times-device.nest
