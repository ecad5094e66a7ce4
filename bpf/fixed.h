/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Powers and logarithms of two in whole numbers, without tables: the verifier
 * wants no static arrays, and the simulator the same bits everywhere. Without
 * branches, too: the verifier would follow each of them on its own, 2^24 ways.
 */
#ifndef BENTPIPE_FIXED_H
#define BENTPIPE_FIXED_H

/* Multiplies r by 2^(2^-n) where bit n of the fraction is set, else by one; both
 * have 31 bits behind the point. */
#define POWER_STEP(r, fraction, n, factor) \
	((r) = (r) * ((1ULL << 31) + (((fraction) >> (32 - (n))) & 1) * \
					     ((factor) - (1ULL << 31))) >> 31)

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

/* log2(x / 2^32), 24 bits behind the point; 0 for x up to 2^32. */
static INLINE __u32 logarithm(__u64 x)
{
	__u32 result = 0;
	__u32 i;

	if (x <= 1ULL << 32)
		return 0;
	/* x becomes 2^32 to 2^33, what it is divided by goes into the result. */
	for (i = 16; i; i >>= 1) {
		__u32 above = x >> (32 + i) != 0;

		x >>= above * i;
		result += above * i << 24;
	}
	/* One bit before the point, 31 behind it. */
	x >>= 1;
	for (i = 1U << 23; i; i >>= 1) {
		__u32 above;

		x = x * x >> 31;
		above = x >> 32 & 1;
		x >>= above;
		result += above * i;
	}
	return result;
}

/* floor(a b / c) for b and c below 2^32 and b at most c, or a small enough. */
static INLINE __u64 scale(__u64 a, __u64 b, __u64 c)
{
	if (!c)
		return 0;
	return a / c * b + a % c * b / c;
}

#endif
