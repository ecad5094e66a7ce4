/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * SEARCH: slow start is over when what arrives no longer doubles with each RTT.
 *
 * Source: draft-chung-ccwg-search, algorithm 3.0 (versions up to 08), section 3.
 * Time is cut into bins of SEARCH_WINDOW first RTTs / 10. At the end of each, what
 * 10 bins delivered is compared with twice what they did one RTT before, as
 * crates/cc/src/slots/search.rs does, where the readings stand. Times are
 * microseconds. The verifier takes no computed place in a socket, but one on
 * the stack: the bins move along, the newest first, by way of that.
 */
#ifndef BENTPIPE_SEARCH_H
#define BENTPIPE_SEARCH_H

/* Bins of a window, further ones to look back by an RTT and one to interpolate. */
#define SEARCH_BINS 10
#define SEARCH_EXTRA 15
#define SEARCH_KEPT 26
/* First RTTs that detection takes. */
#define SEARCH_DETECTION 2

/* Bins that are counted at most: enough to tell that all are filled. */
#define SEARCH_COUNTED 200
/* Segments of a bin are kept in 16 bits, shifted by so many more at a time. */
#define SEARCH_SHIFT 4
#define SEARCH_SHIFTS 4

#ifdef __clang__
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED
#endif

/* The verifier has to see that a place lies inside: the compiler, which knows it, must
 * neither leave the check out nor check something else. */
#define BOUNDED(place, most) \
	do { \
		__asm__ volatile("" : "+r"(place)); \
		if ((place) > (most)) \
			(place) = (most); \
	} while (0)

struct search {
	/* Delivered in each bin, 2^shift segments, the newest first. */
	__u16 bins[SEARCH_KEPT];
	/* tp->delivered at the end of the newest bin. */
	__u32 delivered;
	/* When the bin in progress ends. */
	__u32 ends;
	/* 0 before the first RTT. */
	__u32 duration;
	/* Segments. */
	__u32 initial_window;
	__u8 count;
	__u8 shift;
	__u16 reserved;
};

static INLINE void search_clear(struct search *search)
{
	__u32 i;

	UNROLLED
	for (i = 0; i < SEARCH_KEPT; i++)
		search->bins[i] = 0;
	search->count = 0;
	search->shift = 0;
	search->reserved = 0;
}

static INLINE void search_begin(struct search *search, __u32 initial_window)
{
	search_clear(search);
	search->delivered = 0;
	search->ends = 0;
	search->duration = 0;
	search->initial_window = initial_window;
}

/* The bins begin, perhaps anew, with an RTT. */
static INLINE void search_start(const struct sock *sk, struct search *search, __u32 rtt)
{
	__u64 window = parameter(sk, SEARCH_WINDOW);

	search_clear(search);
	search->duration = min_u64(rtt * window / (SEARCH_BINS * MILLION), 1U << 30);
	search->delivered = tcp_sk(sk)->delivered;
	search->ends = (__u32)tcp_sk(sk)->tcp_mstamp + search->duration;
}

/* Bins end: those between the last and this one, which has so many segments, are
 * empty. 1 <= passed <= SEARCH_BINS. */
static INLINE void search_move(struct search *search, __u32 passed, __u32 segments)
{
	__u16 room[SEARCH_BINS + SEARCH_KEPT];
	__u32 shift = search->shift;
	__u32 from = SEARCH_BINS - passed;
	__u32 more = 0;
	__u32 i;

	for (i = 0; i < SEARCH_SHIFTS; i++)
		more += SEARCH_SHIFT * ((segments >> ((shift + more) & 31)) > 0xffff);
	UNROLLED
	for (i = 0; i < SEARCH_BINS; i++)
		room[i] = 0;
	UNROLLED
	for (i = 0; i < SEARCH_KEPT; i++)
		room[SEARCH_BINS + i] = search->bins[i] >> (more & 31);
	BOUNDED(from, SEARCH_BINS - 1);
	UNROLLED
	for (i = 0; i < SEARCH_KEPT; i++)
		search->bins[i] = room[from + i];
	search->shift = shift + more;
	search->bins[0] = min_u32(segments >> ((shift + more) & 31), 0xffff);
	search->count = min_u32(search->count + passed, SEARCH_COUNTED);
	search->ends += passed * search->duration;
}

/* The sums of the newest 0, 1, ... bins. */
static INLINE void search_add(const struct search *search, __u32 *sums)
{
	__u32 i;

	sums[0] = 0;
	UNROLLED
	for (i = 0; i < SEARCH_KEPT; i++)
		sums[i + 1] = sums[i] + search->bins[i];
}

/* So much is missing that slow start is over. */
static INLINE int search_finds(const struct sock *sk, const struct search *search,
			       __u32 rtt)
{
	__u32 sums[SEARCH_KEPT + 1];
	__u32 back = quotient(rtt, search->duration);
	__u64 part = quotient((__u64)(rtt - back * search->duration) << 16,
			      search->duration);
	__u64 later, earlier, expected, current;

	if (back > SEARCH_EXTRA || search->count <= back + SEARCH_BINS)
		return 0;
	search_add(search, sums);
	BOUNDED(back, SEARCH_EXTRA);
	later = sums[back + SEARCH_BINS] - sums[back];
	earlier = sums[back + 1 + SEARCH_BINS] - sums[back + 1];
	current = (__u64)sums[SEARCH_BINS] << 16;
	expected = 2 * (later * (65536 - part) + earlier * part);
	if (!expected || current > expected)
		return 0;
	return (expected - current) * MILLION >= parameter(sk, SEARCH_THRESHOLD) * expected;
}

/* An ACK with a sample of the RTT: 1 if slow start is over. */
static INLINE int search_ends(const struct sock *sk, struct search *search, __u32 rtt)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	__s32 late = (__u32)tp->tcp_mstamp - search->ends;
	__u32 passed;

	if (!search->duration) {
		search_start(sk, search, rtt);
		return 0;
	}
	if (late <= 0)
		return 0;
	passed = quotient(late, search->duration) + 1;
	if (passed > SEARCH_BINS) {
		search_start(sk, search, rtt);
		return 0;
	}
	search_move(search, passed, tp->delivered - search->delivered);
	search->delivered = tp->delivered;
	return search_finds(sk, search, rtt);
}

/* The window without what was delivered while the path was full: no less than half
 * of it, and than the initial window. */
static INLINE __u64 search_point(const struct sock *sk, const struct search *search,
				 __u64 exact)
{
	__u64 back = quotient(SEARCH_DETECTION * SEARCH_BINS * MILLION,
			      parameter(sk, SEARCH_WINDOW));
	__u64 least = max_u64(exact / 2, (__u64)search->initial_window << 32);
	__u32 sums[SEARCH_KEPT + 1];
	__u64 over;

	back = min_u64(back, search->count);
	search_add(search, sums);
	BOUNDED(back, SEARCH_KEPT);
	over = (__u64)sums[back] << (search->shift & 31) << 32;
	return exact > least + over ? exact - over : min_u64(least, exact);
}

#endif
