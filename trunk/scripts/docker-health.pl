#!/usr/bin/perl
# The health check of the container image: status 0 when the server responds. Needs perl-base only, which Debian always has.
#   docker-health.pl [PID]        PID: the server's (default: 1)
# Requests /readyz of the API at the address in the environment or the conf. A server without an API is healthy when it listens for RTMP.
use strict;
use warnings;
# Loads docker-api.pl from the folder of this file.
my $folder = __FILE__ =~ m{^(.*)/} ? $1 : ".";
require(($folder =~ m{^/} ? "" : "./") . "$folder/docker-api.pl");

my %server = endpoints_of(shift // 1);
if (!$server{enabled}) {
    connect_to($server{rtmp});
    exit 0;
}
my $line = ask($server{listen}, 'GET', '/readyz', '');
# 401: it responds, and requires a password for more.
exit 0 if $line =~ m{^HTTP/1\.[01] (?:200|401) };
give_up("not ready: $line");
