# Shared by docker-health.pl and docker-drain.pl: the address of the server's API, from the environment or the conf, and one request to it.
# Needs perl-base only, which Debian always has.
use strict;
use warnings;
use IO::Socket::IP;

my $limit_s = 3;

sub give_up {
    print STDERR @_, "\n";
    exit 1;
}

# The text of the conf that follows -c, without comments. Files it includes are not read.
sub conf_text {
    my ($pid) = @_;
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

# The value of a directive: the variable, else the first one in the text, else the default.
sub value_of {
    my ($text, $name, $variable, $default) = @_;
    return $ENV{$variable} if ($ENV{$variable} // '') ne '';
    return $text =~ /(?:^|[\s;{}])$name\s+([^;\s]+)/ ? $1 : $default;
}

# {enabled, listen, rtmp, auth => {enabled, type, username, password, token}}: endpoints are the first of their lists.
sub endpoints_of {
    my ($pid) = @_;
    my $conf = conf_text($pid);
    my ($block) = $conf =~ /\bhttp_api\s*\{((?:[^{}]|\{[^{}]*\})*)\}/;
    $block //= '';
    my ($auth) = $block =~ /\bauth\s*\{([^{}]*)\}/;
    $auth //= '';
    $block =~ s/\{[^{}]*\}//g;
    $conf =~ s/\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}//g;
    my %login = map { $_ => value_of($auth, $_, 'SRS_HTTP_API_AUTH_' . uc, $_ eq 'enabled' ? 'off' : $_ eq 'type' ? 'auto' : '') }
        qw(enabled type username password token);
    return (
        enabled => value_of($block, 'enabled', 'SRS_HTTP_API_ENABLED', 'off') eq 'on',
        listen => (split(' ', value_of($block, 'listen', 'SRS_HTTP_API_LISTEN', '1985')))[0],
        rtmp => (split(' ', value_of($conf, 'listen', 'SRS_LISTEN', '1935')))[0],
        auth => \%login,
    );
}

sub connect_to {
    my ($endpoint) = @_;
    my ($host, $port) = $endpoint =~ /^(?:\[?([^\]\s]*?)\]?:)?(\d+)$/ or give_up("no endpoint: $endpoint");
    # A server that listens on all addresses listens on loopback.
    $host = '127.0.0.1' if !defined $host || $host eq '' || $host eq '0.0.0.0';
    $host = '::1' if $host eq '::';
    return IO::Socket::IP->new(PeerHost => $host, PeerPort => $port, Timeout => $limit_s) || give_up("no connection to $endpoint: $@");
}

# perl-base has no module for it.
sub base64_of {
    my ($text) = @_;
    my @letters = ('A' .. 'Z', 'a' .. 'z', 0 .. 9, '+', '/');
    my $bits = unpack('B*', $text);
    $bits .= '0' while length($bits) % 6;
    my $out = join('', map { $letters[oct("0b$_")] } $bits =~ /(.{6})/g);
    $out .= '=' while length($out) % 4;
    return $out;
}

sub authorization_of {
    my ($login) = @_;
    return '' if $login->{enabled} ne 'on';
    return "Authorization: Bearer $login->{token}\r\n" if $login->{type} eq 'bearer' || ($login->{type} eq 'auto' && $login->{token} ne '');
    return 'Authorization: Basic ' . base64_of("$login->{username}:$login->{password}") . "\r\n";
}

# The first line of the response.
sub ask {
    my ($endpoint, $method, $path, $more) = @_;
    my $socket = connect_to($endpoint);
    print {$socket} "$method $path HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n$more\r\n";
    return <$socket> // '';
}

$SIG{ALRM} = sub { give_up("no answer within $limit_s s") };
alarm($limit_s);
1;
