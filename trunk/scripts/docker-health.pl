#!/usr/bin/perl
# The health check of the container image: status 0 when the server answers. Needs perl-base only, which Debian always has.
#   docker-health.pl [PID]        PID: the server's (default: 1)
# Asks /readyz of the API where the environment, or else the server's conf, has it. A server without API is healthy when it listens for RTMP.
use strict;
use warnings;
# From beside this file, wherever it is called from.
my $folder = __FILE__ =~ m{^(.*)/} ? $1 : ".";
require(($folder =~ m{^/} ? "" : "./") . "$folder/docker-api.pl");

my %server = endpoints_of(shift // 1);
if (!$server{enabled}) {
    connect_to($server{rtmp});
    exit 0;
}
my $line = ask($server{listen}, 'GET', '/readyz', '');
# 401: it answers, and wants a password for more.
exit 0 if $line =~ m{^HTTP/1\.[01] (?:200|401) };
give_up("not ready: $line");
