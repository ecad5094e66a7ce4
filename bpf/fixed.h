/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Powers and logarithms of two in whole numbers, without tables: the verifier
 * wants no static arrays, and the simulator the same bits everywhere.
 */
#ifndef BENTPIPE_FIXED_H
#define BENTPIPE_FIXED_H

/* Multiplies r by 2^(2^-n) where bit n of the fraction is set; both have 31
 * bits behind the point. */
#define POWER_STEP(r, fraction, n, factor) \
	do { \
		if ((fraction) & (1U << (32 - (n)))) \
			(r) = (r) * (factor) >> 31; \
	} while (0)

/* 2^(fraction / 2^32), 31 bits behind the point; exact to about 2^-25. */
static INLINE __u64 power_of_two(__u32 fraction)
{
	__u64 r = 1ULL << 31;

	POWER_STEP(r, fraction, 1, 3037000500ULL);
	POWER_STEP(r, fraction, 2, 2553802834ULL);
	POWER_STEP(r, fraction, 3, 2341847524ULL);
	POWER_STEP(r, fraction, 4, 2242560872ULL);
	POWER_STEP(r, fraction, 5, 2194507417ULL);
	POWER_STEP(r, fraction, 6, 2170868212ULL);
	POWER_STEP(r, fraction, 7, 2159144272ULL);
	POWER_STEP(r, fraction, 8, 2153306067ULL);
	POWER_STEP(r, fraction, 9, 2150392887ULL);
	POWER_STEP(r, fraction, 10, 2148937775ULL);
	POWER_STEP(r, fraction, 11, 2148210589ULL);
	POWER_STEP(r, fraction, 12, 2147847087ULL);
	POWER_STEP(r, fraction, 13, 2147665360ULL);
	POWER_STEP(r, fraction, 14, 2147574502ULL);
	POWER_STEP(r, fraction, 15, 2147529075ULL);
	POWER_STEP(r, fraction, 16, 2147506361ULL);
	POWER_STEP(r, fraction, 17, 2147495005ULL);
	POWER_STEP(r, fraction, 18, 2147489326ULL);
	POWER_STEP(r, fraction, 19, 2147486487ULL);
	POWER_STEP(r, fraction, 20, 2147485068ULL);
	POWER_STEP(r, fraction, 21, 2147484358ULL);
	POWER_STEP(r, fraction, 22, 2147484003ULL);
	POWER_STEP(r, fraction, 23, 2147483825ULL);
	POWER_STEP(r, fraction, 24, 2147483737ULL);
	return r;
}

#endif
