// The dumbbell for ns-3 (3.37, Debian's libns3-dev): N persistent TCP SACK flows over one long
// bottleneck.
//
//   dumbbell-ns3 --flows=10 --rate=10Mbit/s --loss=0.01 --duration=60s [--routing=global|static|nix]
//
// sender_i --(5 ms)-- R1 --(rate, 290 ms)-- R2 --(5 ms)-- receiver_i
//
// Prints one line of JSON. README.md says how packet hops are counted.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

// The scenario's constants: the same in dumbbell.tcl.
constexpr uint32_t kWireBytes = 1500;
constexpr uint32_t kPayloadBytes = 1460;
constexpr double kRoundTripSeconds = 0.6;

// Every packet that arrives intact at the far end of a link: one hop. An integer addition is below
// 1 % of what ns-3 spends on a hop.
uint64_t g_dataHops = 0;
uint64_t g_ackHops = 0;

void
CountHop(Ptr<const Packet> packet)
{
    // SACK blocks make some ACKs longer than 40 bytes, but never this long.
    if (packet->GetSize() > 200)
    {
        ++g_dataHops;
    }
    else
    {
        ++g_ackHops;
    }
}

// The same, split out for the first link of data and the last of ACKs, to report packets.
uint64_t g_dataPackets = 0;
uint64_t g_ackPackets = 0;

void
CountSent(Ptr<const Packet> packet)
{
    g_dataPackets += packet->GetSize() > 200;
}

void
CountReturned(Ptr<const Packet> packet)
{
    g_ackPackets += packet->GetSize() <= 200;
}

uint64_t g_queueDrops = 0;

void
CountQueueDrop(Ptr<const Packet>)
{
    ++g_queueDrops;
}

uint64_t g_channelLosses = 0;

void
CountChannelLoss(Ptr<const Packet>)
{
    ++g_channelLosses;
}

double
CpuSeconds()
{
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

// "10Mbit/s" -> 10, "60s" -> 60.
double
NumberBefore(const std::string& text, const std::string& unit)
{
    const bool ends = text.size() > unit.size() &&
                      text.compare(text.size() - unit.size(), unit.size(), unit) == 0;
    if (!ends)
    {
        std::cerr << "dumbbell: '" << text << "' should be a number and " << unit << "\n";
        std::exit(2);
    }
    return std::stod(text.substr(0, text.size() - unit.size()));
}

// A point-to-point link whose two queues hold `forward` and `backward` packets.
NetDeviceContainer
Connect(Ptr<Node> from, Ptr<Node> to, double mbps, const char* delay, uint32_t forward, uint32_t backward)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(mbps * 1e6))));
    link.SetChannelAttribute("Delay", StringValue(delay));
    // Without flow control the address helper adds no queue discipline (fq_codel) behind our back.
    link.DisableFlowControl();
    NetDeviceContainer devices = link.Install(from, to);
    const uint32_t limit[] = {forward, backward};
    for (uint32_t i = 0; i < 2; ++i)
    {
        auto device = DynamicCast<PointToPointNetDevice>(devices.Get(i));
        device->GetQueue()->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, limit[i]));
        device->TraceConnectWithoutContext("PhyRxEnd", MakeCallback(&CountHop));
    }
    return devices;
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t flows = 1;
    uint32_t seed = 1;
    double loss = 0.0;
    std::string rateText = "10Mbit/s";
    std::string durationText = "60s";
    std::string routing = "global"; // the dearer set-up, but the cheaper forwarding: the fastest in all
    CommandLine command(__FILE__);
    command.AddValue("flows", "number of flows", flows);
    command.AddValue("rate", "rate of the bottleneck, as 10Mbit/s", rateText);
    command.AddValue("loss", "packet error ratio from R1 to R2", loss);
    command.AddValue("duration", "simulated time, as 60s", durationText);
    command.AddValue("seed", "run number of the random streams", seed);
    command.AddValue("routing", "global, static or nix", routing);
    command.Parse(argc, argv);
    const double mbps = NumberBefore(rateText, "Mbit/s");
    const double duration = NumberBefore(durationText, "s");

    const auto bdp = uint32_t(mbps * 1e6 * kRoundTripSeconds / (8 * kWireBytes));
    // Windows never limit: 4 BDP for one flow, 16 times the fair share among many, at least 100.
    const uint32_t window = std::max(100U, std::min(4 * bdp, 16 * bdp / flows));
    const uint32_t accessQueue = 10 * bdp + 100000;

    RngSeedManager::SetRun(seed);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kPayloadBytes));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window * kPayloadBytes));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window * kPayloadBytes));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    // 12 bytes of timestamps would make 1512 bytes on the wire.
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));

    Ptr<Node> r1 = CreateObject<Node>();
    Ptr<Node> r2 = CreateObject<Node>();
    NodeContainer senders(flows);
    NodeContainer receivers(flows);

    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    if (routing == "nix")
    {
        internet.SetRoutingHelper(Ipv4NixVectorHelper());
    }
    else if (routing == "static")
    {
        internet.SetRoutingHelper(Ipv4StaticRoutingHelper());
    }
    else if (routing == "global")
    {
        internet.SetRoutingHelper(Ipv4GlobalRoutingHelper());
    }
    else
    {
        std::cerr << "dumbbell: --routing is global, static or nix\n";
        return 2;
    }
    internet.Install(NodeContainer(r1, r2));
    internet.Install(senders);
    internet.Install(receivers);

    NetDeviceContainer middle = Connect(r1, r2, mbps, "290ms", bdp, accessQueue);
    DynamicCast<PointToPointNetDevice>(middle.Get(0))
        ->GetQueue()
        ->TraceConnectWithoutContext("Drop", MakeCallback(&CountQueueDrop));
    if (loss > 0.0)
    {
        auto channel = CreateObject<RateErrorModel>();
        channel->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        channel->SetRate(loss);
        middle.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(channel));
        middle.Get(1)->TraceConnectWithoutContext("PhyRxDrop", MakeCallback(&CountChannelLoss));
    }

    // One /30 network a link: 10.0.0.0 the bottleneck, 10.64.0.0 the senders, 10.128.0.0 the receivers.
    Ipv4AddressHelper address;
    address.SetBase("10.0.0.0", "255.255.255.252");
    Ipv4InterfaceContainer middleIf = address.Assign(middle);
    Ipv4AddressHelper senderAddress;
    Ipv4AddressHelper receiverAddress;
    senderAddress.SetBase("10.64.0.0", "255.255.255.252");
    receiverAddress.SetBase("10.128.0.0", "255.255.255.252");
    std::vector<Ipv4Address> target;
    std::vector<Ptr<PacketSink>> sinks;
    for (uint32_t i = 0; i < flows; ++i)
    {
        auto left = Connect(senders.Get(i), r1, 10 * mbps, "5ms", accessQueue, accessQueue);
        auto right = Connect(r2, receivers.Get(i), 10 * mbps, "5ms", accessQueue, accessQueue);
        left.Get(1)->TraceConnectWithoutContext("PhyRxEnd", MakeCallback(&CountSent));
        left.Get(0)->TraceConnectWithoutContext("PhyRxEnd", MakeCallback(&CountReturned));
        auto leftIf = senderAddress.Assign(left);
        auto rightIf = receiverAddress.Assign(right);
        senderAddress.NewNetwork();
        receiverAddress.NewNetwork();
        target.push_back(rightIf.GetAddress(1));
        if (routing == "static")
        {
            // Hosts know their router, and each router the whole other side as one route; its own
            // side it knows from its interfaces.
            auto table = [](Ptr<Node> node) {
                return Ipv4RoutingHelper::GetRouting<Ipv4StaticRouting>(
                    node->GetObject<Ipv4>()->GetRoutingProtocol());
            };
            table(senders.Get(i))->SetDefaultRoute(leftIf.GetAddress(1), 1);
            table(receivers.Get(i))->SetDefaultRoute(rightIf.GetAddress(0), 1);
            if (i == 0)
            {
                table(r1)->AddNetworkRouteTo("10.128.0.0", "255.192.0.0", middleIf.GetAddress(1), 1);
                table(r2)->AddNetworkRouteTo("10.64.0.0", "255.192.0.0", middleIf.GetAddress(0), 1);
            }
        }
    }
    if (routing == "global")
    {
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    }

    // No queue but the devices' own may stand in the way.
    for (uint32_t n = 0; n < NodeList::GetNNodes(); ++n)
    {
        Ptr<Node> node = NodeList::GetNode(n);
        auto control = node->GetObject<TrafficControlLayer>();
        for (uint32_t d = 0; control && d < node->GetNDevices(); ++d)
        {
            if (control->GetRootQueueDiscOnDevice(node->GetDevice(d)))
            {
                std::cerr << "dumbbell: a queue discipline was installed unasked\n";
                return 2;
            }
        }
    }

    const uint16_t port = 5000;
    for (uint32_t i = 0; i < flows; ++i)
    {
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.push_back(DynamicCast<PacketSink>(sink.Install(receivers.Get(i)).Get(0)));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(target[i], port));
        bulk.SetAttribute("MaxBytes", UintegerValue(0));
        bulk.SetAttribute("SendSize", UintegerValue(kPayloadBytes));
        bulk.Install(senders.Get(i)).Start(Seconds(double(i) / flows));
    }

    const double setup = CpuSeconds();
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    const double run = CpuSeconds() - setup;

    uint64_t delivered = 0;
    for (const auto& sink : sinks)
    {
        delivered += sink->GetTotalRx();
    }
    std::printf("{\"peer\":\"ns-3\",\"flows\":%u,\"rate_mbps\":%g,\"loss\":%g,\"duration_s\":%g,"
                "\"data_packets\":%llu,\"ack_packets\":%llu,\"packet_hops\":%llu,"
                "\"setup_cpu_s\":%.6f,\"run_cpu_s\":%.6f,\"goodput_mbps\":%.4f,"
                "\"queue_drops\":%llu,\"channel_losses\":%llu}\n",
                flows,
                mbps,
                loss,
                duration,
                (unsigned long long)g_dataPackets,
                (unsigned long long)g_ackPackets,
                (unsigned long long)(g_dataHops + g_ackHops),
                setup,
                run,
                delivered * 8 / duration / 1e6,
                (unsigned long long)g_queueDrops,
                (unsigned long long)g_channelLosses);
    // Taking the world down is no part of the run.
    std::fflush(stdout);
    std::_Exit(0);
}
