/*
 * NAME: growth that does not depend on the round trip.
 *
 * TCP's congestion avoidance adds a segment per round trip, which over a
 * geostationary satellite is a segment in 600 ms. This control adds STEP segments
 * in 100 ms, whatever the round trip is. Slow start doubles as usual, and a loss
 * halves what is in flight.
 *
 * The simulator runs this file (bentpipe compare --cc NAME.c), and so can the
 * kernel: clang compiles it as eBPF. Windows are in units of 2^-32 segments.
 *
 * @parameter step = 1 in 1..100 segments: growth of the window in 100 ms
 */
#include "bentpipe.h"

/* As the comments declare them, in their order. */
enum {
	STEP = OWN_PARAMETERS, /* segments */
	COUNT,
};

PARAMETERS(COUNT);

#define PERIOD_US 100000
#define LONGEST_RTT_US 10000000

/* Of a connection; the window comes first. */
struct state {
	struct window window;
};
STATE_FITS(struct state);

HOOK(void, init)
{
	struct state *state = inet_csk_ca(sk);

	window_begin(sk, &state->window);
}

HOOK_CONG_AVOID()
{
	struct state *state = inet_csk_ca(sk);
	__u64 exact = window_get(sk, &state->window);
	__u64 count = min_u32(acked, 1U << 16);
	__u64 rtt = min_u32(tcp_sk(sk)->srtt_us >> 3, LONGEST_RTT_US);
	__u64 per_round;

	if (!needs_window(sk))
		return;
	if (in_slow_start(sk)) {
		window_set(sk, &state->window, exact + (count << 32));
		return;
	}
	per_round = (parameter(sk, STEP) * rtt << 16) / PERIOD_US << 16;
	per_round = min_u64(max_u64(per_round, SEGMENT), exact);
	window_set(sk, &state->window, exact + per_window(per_round, exact) * count);
}

HOOK_EVENT_WHOLE()
HOOK_SSTHRESH_HALVES()
HOOK_UNDO()

/* At most 15 letters. */
CONTROL("NAME", ON(init), ON(cong_avoid), ON(cwnd_event), ON(ssthresh), ON(undo_cwnd));
