#!/usr/bin/perl
# Runs before the stop signal of a container (preStop of Kubernetes): starts a drain, after which the server stops, and
# waits for its end, at most SECONDS. A stop signal before that would be a second one, which ends the drain.
#   docker-drain.pl SECONDS [PID]        PID: the server's (default: 1)
# A server without a drain continues; load balancers get some seconds to notice, then the stop signal, SIGQUIT, is its graceful stop.
use strict;
use warnings;
# Loads docker-api.pl from the folder of this file.
my $folder = __FILE__ =~ m{^(.*)/} ? $1 : ".";
require(($folder =~ m{^/} ? "" : "./") . "$folder/docker-api.pl");

my $seconds = shift // '';
give_up('usage: docker-drain.pl SECONDS [PID]') unless $seconds =~ /^\d+$/;
my $pid = shift // 1;
my %server = endpoints_of($pid);
my $status = '';
if ($server{enabled}) {
    ($status) = ask($server{listen}, 'POST', '/api/v1/drain', authorization_of($server{auth}) . "Content-Length: 0\r\n") =~ m{^HTTP/1\.[01] (\d+)};
    $status //= 'no answer';
    print "drain: $status\n";
}
alarm(0);
my $load_balancers_s = 5;
my $until = time() + ($status eq '200' || $seconds < $load_balancers_s ? $seconds : $load_balancers_s);
sleep(1) while time() < $until && kill(0, $pid);
