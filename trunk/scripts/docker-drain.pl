#!/usr/bin/perl
# What a container does before it gets its stop signal (preStop of Kubernetes): asks the server to take no new clients, and gives load balancers
# SECONDS to hear of it. The clients that are here are given time by the stop signal, SIGQUIT (grace_final_wait), not by this.
#   docker-drain.pl SECONDS [PID]        PID: the server's (default: 1)
# A server that does not know how to drain goes on until the stop signal: its status is told, and is no failure.
use strict;
use warnings;
# From beside this file, wherever it is called from.
my $folder = __FILE__ =~ m{^(.*)/} ? $1 : ".";
require(($folder =~ m{^/} ? "" : "./") . "$folder/docker-api.pl");

my $seconds = shift // '';
give_up('usage: docker-drain.pl SECONDS [PID]') unless $seconds =~ /^\d+$/;
my %server = endpoints_of(shift // 1);
if ($server{enabled}) {
    my ($status) = ask($server{listen}, 'POST', '/api/v1/drain', authorization_of($server{auth}) . "Content-Length: 0\r\n") =~ m{^HTTP/1\.[01] (\d+)};
    print 'drain: ', $status // 'no answer', "\n";
}
alarm(0);
sleep($seconds);
