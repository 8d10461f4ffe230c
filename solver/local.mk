# SPDX-License-Identifier: MIT

noinst_LIBRARIES += %D%/libsolver.a
