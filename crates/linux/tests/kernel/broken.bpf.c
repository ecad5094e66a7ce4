/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What no kernel lets in: a control that writes a field of the connection that
 * is not a control's to write.
 */
#include "bentpipe.h"

PARAMETERS(OWN_PARAMETERS);

HOOK_CONG_AVOID()
{
	tcp_sk(sk)->srtt_us = acked;
}

HOOK(__u32, ssthresh)
{
	return max_u32(tcp_sk(sk)->snd_cwnd / 2, 2);
}

HOOK(__u32, undo_cwnd)
{
	return window_before_cut(sk);
}

CONTROL("bp_broken", ON(cong_avoid), ON(ssthresh), ON(undo_cwnd));
