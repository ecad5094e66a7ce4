/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The sizes of the structures that crates/bpf mirrors. */
#include "bentpipe.h"

extern const __u32 bentpipe_native_sizes[4];

const __u32 bentpipe_native_sizes[4] = {
	sizeof(struct sock),
	sizeof(struct ack_sample),
	sizeof(struct rate_sample),
	sizeof(struct tcp_congestion_ops),
};
