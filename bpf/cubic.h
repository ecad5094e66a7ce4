/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * CUBIC: a window that is a cubic function of the time since the last loss.
 *
 * Source: RFC 9438, as crates/cc/src/slots/cubic.rs reads it: section 4.2 (the
 * function), 4.3 (the Reno-friendly region), 4.7 (fast convergence), 4.8 (timeout),
 * 4.9 (undo), 5.8 (idle times). Windows are exact (2^-32 segments), the function's
 * time has units of 2^-20 s.
 */
#ifndef BENTPIPE_CUBIC_H
#define BENTPIPE_CUBIC_H

/* Where CUBIC is; what a needless cut brings back is kept twice. */
struct cubic_course {
	/* The window before the last cut, or less; 0 before any. */
	__u64 w_max;
	/* cwnd before the last cut. */
	__u64 prior;
	/* Reno's window. */
	__u64 w_est;
	/* From the start of the epoch to w_max, 2^-20 s. */
	__u32 k;
	/* When the epoch began, idle time left out, us. */
	__u32 epoch;
};

struct cubic {
	struct cubic_course now;
	struct cubic_course before;
	/* Since when the window is not used, us. */
	__u32 idle_since;
	__u32 reserved;
};

enum {
	CUBIC_IN_EPOCH = 1,
	CUBIC_IS_IDLE = 2,
};

/* The longest time of the function: 512 s. */
#define CUBIC_LONGEST ((1U << 29) - 1)

static INLINE void cubic_course_begin(struct cubic_course *course)
{
	course->w_max = 0;
	course->prior = 0;
	course->w_est = 0;
	course->k = 0;
	course->epoch = 0;
}

static INLINE void cubic_course_copy(struct cubic_course *to, const struct cubic_course *from)
{
	to->w_max = from->w_max;
	to->prior = from->prior;
	to->w_est = from->w_est;
	to->k = from->k;
	to->epoch = from->epoch;
}

static INLINE void cubic_begin(struct cubic *cubic)
{
	cubic_course_begin(&cubic->now);
	cubic_course_begin(&cubic->before);
	cubic->idle_since = 0;
	cubic->reserved = 0;
}

static INLINE __u32 cubic_clock(const struct sock *sk)
{
	return tcp_sk(sk)->tcp_mstamp;
}

/* 2^-20 s of so many microseconds. */
static INLINE __u64 cubic_time(__u32 us)
{
	return ((__u64)us << 20) / MILLION;
}

/* C x^3, exact; x in 2^-20 s, up to the longest. From 64 s on three bits less of x count.
 * Without branches: cubic_root() asks many times, and the verifier would follow each. */
static INLINE __u64 cubic_of(const struct sock *sk, __u64 x)
{
	__u64 square, cube;
	__u32 coarse;

	coarse = x >> 26;
	coarse |= coarse >> 1;
	coarse |= coarse >> 2;
	coarse = 3 * (coarse & 1);
	x >>= coarse;
	square = x * x >> 20;
	/* 2^-25 s^3, or 2^-16. */
	cube = square * x >> 15;
	return cube * parameter(sk, CUBIC_C) / MILLION << 7 << 3 * coarse;
}

/* W_cubic, t into the epoch. */
static INLINE __u64 cubic_window(const struct sock *sk, const struct cubic *cubic, __u64 t)
{
	__u64 k = cubic->now.k;
	__u64 w_max = cubic->now.w_max;
	__u64 less;

	if (t >= k)
		return w_max + cubic_of(sk, min_u64(t - k, CUBIC_LONGEST));
	less = cubic_of(sk, min_u64(k - t, CUBIC_LONGEST));
	return w_max > less ? w_max - less : 0;
}

/* The x of which C x^3 is `rise`, from below; both stay below 2^63. */
static INLINE __u32 cubic_root(const struct sock *sk, __u64 rise)
{
	__u32 root = 0;
	__u32 bit;

	for (bit = 1U << 28; bit; bit >>= 1)
		root += bit * (1 - ((rise - cubic_of(sk, root + bit)) >> 63));
	return root;
}

/* An ACK that found the window unused. */
static INLINE void cubic_idle(const struct sock *sk, struct cubic *cubic, __u8 *flags)
{
	if (*flags == CUBIC_IN_EPOCH) {
		*flags |= CUBIC_IS_IDLE;
		cubic->idle_since = cubic_clock(sk);
	}
}

/* The window after an ACK of congestion avoidance of so many segments. */
static INLINE __u64 cubic_grow(const struct sock *sk, struct cubic *cubic, __u8 *flags,
			       __u64 exact, __u32 acked)
{
	struct cubic_course *now = &cubic->now;
	__u32 clock = cubic_clock(sk);
	__u64 srtt = ((__u64)tcp_sk(sk)->srtt_us << 17) / MILLION;
	__u64 beta = min_u64(parameter(sk, CUBIC_BETA), MILLION);
	__u64 t, target, step, grown;

	if (!(*flags & CUBIC_IN_EPOCH)) {
		now->k = 0;
		if (exact < now->w_max)
			now->k = cubic_root(sk, now->w_max - exact);
		now->w_max = max_u64(now->w_max, exact);
		now->w_est = exact;
		now->epoch = clock;
		*flags = CUBIC_IN_EPOCH;
	}
	if (*flags & CUBIC_IS_IDLE) {
		now->epoch += clock - cubic->idle_since;
		*flags = CUBIC_IN_EPOCH;
	}
	t = cubic_time(clock - now->epoch);
	target = cubic_window(sk, cubic, t + srtt);
	target = min_u64(max_u64(target, exact), exact + exact / 2);
	step = per_window(min_u64(target - exact, (1ULL << 56) - 1), exact);
	if (parameter(sk, COUNTS) == COUNTS_SEGMENTS)
		step *= acked;
	grown = min_u64(exact + step, target);
	if (parameter(sk, RENO_FRIENDLY)) {
		__u64 part = min_u64(per_window((__u64)acked << 32, exact), SEGMENT);

		if (now->w_est < now->prior)
			part = scale(part, 3 * (MILLION - beta), MILLION + beta);
		now->w_est += part;
		if (cubic_window(sk, cubic, t) < now->w_est)
			grown = max_u64(exact, now->w_est);
	}
	return grown;
}

/* What the next undo brings back. */
static INLINE void cubic_save(struct cubic *cubic)
{
	cubic_course_copy(&cubic->before, &cubic->now);
}

/* A loss at the window `exact`. */
static INLINE void cubic_loss(const struct sock *sk, struct cubic *cubic, __u8 *flags,
			      __u64 exact)
{
	__u64 beta = min_u64(parameter(sk, CUBIC_BETA), MILLION);
	__u64 peak = exact;

	cubic_save(cubic);
	if (parameter(sk, FAST_CONVERGENCE) && exact < cubic->now.w_max)
		peak = scale(exact, (MILLION + beta) / 2, MILLION);
	cubic->now.w_max = peak;
	cubic->now.prior = exact;
	*flags = 0;
}

/* K = 0 and W_max = cwnd when congestion avoidance begins again. */
static INLINE void cubic_timeout(struct cubic *cubic, __u8 *flags)
{
	cubic->now.w_max = 0;
	*flags = 0;
}

/* The last cut was needless. */
static INLINE void cubic_undo(struct cubic *cubic)
{
	cubic_course_copy(&cubic->now, &cubic->before);
}

#endif
