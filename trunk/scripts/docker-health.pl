#!/usr/bin/perl
# The health check of the container image: status 0 when the server answers. Needs perl-base only, which Debian always has.
#   docker-health.pl [PID]        PID: the server's (default: 1)
# Asks /readyz of the API where the environment, or else the server's conf, has it. A server without API is healthy when it listens for RTMP.
use strict;
use warnings;
use IO::Socket::IP;

my $limit_s = 3;
my $pid = shift // 1;

sub unhealthy {
    print STDERR @_, "\n";
    exit 1;
}

# The text of the conf that follows -c, without comments. Files it includes are not read.
sub conf_text {
    open(my $words, '<', "/proc/$pid/cmdline") or return '';
    my @words = split(/\0/, do { local $/ = undef; <$words> } // '');
    my ($at) = grep { $words[$_] eq '-c' } 0 .. $#words;
    return '' unless defined $at && defined $words[$at + 1];
    my $path = $words[$at + 1];
    $path = "/proc/$pid/cwd/$path" unless $path =~ m{^/};
    open(my $file, '<', $path) or return '';
    my $text = do { local $/ = undef; <$file> } // '';
    $text =~ s/#[^\n]*//g;
    return $text;
}

sub connect_to {
    my ($endpoint) = @_;
    my ($host, $port) = $endpoint =~ /^(?:\[?([^\]\s]*?)\]?:)?(\d+)$/ or unhealthy("no endpoint: $endpoint");
    # A server that listens everywhere listens here.
    $host = '127.0.0.1' if !defined $host || $host eq '' || $host eq '0.0.0.0';
    $host = '::1' if $host eq '::';
    return IO::Socket::IP->new(PeerHost => $host, PeerPort => $port, Timeout => $limit_s) || unhealthy("no connection to $endpoint: $@");
}

$SIG{ALRM} = sub { unhealthy("no answer within $limit_s s") };
alarm($limit_s);
my $conf = conf_text();
my ($block) = $conf =~ /\bhttp_api\s*\{((?:[^{}]|\{[^{}]*\})*)\}/;
$block //= '';
$block =~ s/\{[^{}]*\}//g;
my $enabled = $ENV{SRS_HTTP_API_ENABLED} // ($block =~ /\benabled\s+([^;\s]+)/ ? $1 : 'off');
my $api = $ENV{SRS_HTTP_API_LISTEN} // ($block =~ /\blisten\s+([^;\s]+)/ ? $1 : '1985');
$conf =~ s/\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}//g;
my $rtmp = $ENV{SRS_LISTEN} // ($conf =~ /^\s*listen\s+([^;\s]+)/m ? $1 : '1935');
if ($enabled ne 'on') {
    connect_to((split(' ', $rtmp))[0]);
    exit 0;
}
my $socket = connect_to((split(' ', $api))[0]);
print {$socket} "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
my $line = <$socket> // '';
# 401: it answers, and wants a password for more.
exit 0 if $line =~ m{^HTTP/1\.[01] (?:200|401) };
unhealthy("not ready: $line");
