#!/usr/bin/env perl
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Are the tables of letters, numbers and spaces those that Perl's regular expressions go by, which
# nothing in here has made? Compared are all signs that the Unicode of the tables knows.
#
#   check_letters.pl include/dimesh/io/data/letters.hpp    exit status 77: this Perl knows fewer
use strict;
use warnings;

my $signs = 0x110000;

# A digit for each sign, from where turns are.
sub digits {
    my ($all, $at, $is_one) = ('', 0, 0);
    for my $turn (@_, $signs) {
        die "turns out of order\n" if $turn < $at;
        $all .= $is_one x ($turn - $at);
        ($at, $is_one) = ($turn, 1 - $is_one);
    }
    return $all;
}

open my $file, '<', $ARGV[0] or die "$ARGV[0]: $!\n";
my $text = do { local $/; <$file> };
my ($version) = $text =~ /As Unicode (\d+\.\d+)/ or die "$ARGV[0] names no Unicode\n";
my $known = eval { my $property = qr/\p{Present_In=$version}/; 'a' =~ $property; $property };
if (!$known) {
    print "this Perl does not know Unicode $version\n";
    exit 77;
}

# (Surrogates are no signs.)
my $every = join '', map { $_ >> 11 == 0x1b ? "\x{fffd}" : chr } 0 .. $signs - 1;
my $faults = 0;
for (["letter_turns", qr/\p{L}+/], ["number_turns", qr/\p{N}+/], ["spaces", qr/\p{White_Space}+/]) {
    my ($name, $ones) = @$_;
    my ($numbers) = $text =~ /\b$name\[\] = \{([^}]*)\}/ or die "$ARGV[0] has no $name\n";
    my @theirs;
    push @theirs, $-[0], $+[0] while $every =~ /$ones/g;
    my $differs = digits(map { hex } $numbers =~ /0x[0-9a-f]+/g) ^ digits(@theirs);
    while ($differs =~ /[^\0]/g) {
        my $sign = $-[0];
        next if chr($sign) !~ $known;
        printf "%s: U+%04X is one by the table or by Perl alone\n", $name, $sign;
        $faults++;
    }
}
exit($faults > 0);
