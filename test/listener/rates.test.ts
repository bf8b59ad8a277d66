import { describe, expect, it } from 'vitest';
import { addressKey, AddressRates, AddressTurns, networkKey } from '../../server/network/rates.js';
import { HandClock } from './hand-clock.js';

describe('AddressRates', () => {
  const takes = (rates: AddressRates, address: string, times: number): number =>
    Array.from({ length: times }, () => rates.take(address)).filter(Boolean).length;

  it('lets a burst pass, then the sustained rate, for each address alone', () => {
    const clock = new HandClock();
    const rates = new AddressRates(clock, 10, 5, 100);
    expect(takes(rates, 'a', 8)).toBe(5);
    expect(takes(rates, 'b', 8)).toBe(5);
    clock.advance(200);
    expect(takes(rates, 'a', 8)).toBe(2);
    clock.advance(60_000);
    expect(takes(rates, 'a', 8)).toBe(5);
  });

  it('remembers only so many addresses, and forgets the one unused longest', () => {
    const rates = new AddressRates(new HandClock(), 1, 1, 2);
    expect([rates.take('a'), rates.take('b'), rates.take('a'), rates.take('c')])
      .toEqual([true, true, false, true]);
    expect(rates.take('a')).toBe(false);
    expect(rates.take('b')).toBe(true);
  });
});

describe('AddressTurns', () => {
  it('come one after the other for each address alone, and none is later than the longest '
    + 'wait', () => {
    const clock = new HandClock();
    const turns = new AddressTurns(clock, 20, 50, 2);
    expect([turns.take('a'), turns.take('a'), turns.take('b'), turns.take('a'), turns.take('a')])
      .toEqual([20, 40, 20, 50, 50]);
    clock.advance(45);
    expect([turns.take('a'), turns.take('b')]).toEqual([25, 20]);
    // Two addresses are remembered: a was used longest ago.
    expect([turns.take('c'), turns.take('a')]).toEqual([20, 20]);
  });
});

describe('networkKey', () => {
  it('is an IPv4 address, or 48 bits of an IPv6 address', () => {
    expect(networkKey('10.1.2.3')).toBe('10.1.2.3');
    expect(networkKey(addressKey('2001:db8:0:1::1'))).toBe('2001:db8:0::/48');
    expect(networkKey(addressKey('2001:db8:0:2::1'))).toBe('2001:db8:0::/48');
    expect(networkKey(addressKey('2001:db8:1:1::1'))).toBe('2001:db8:1::/48');
  });
});

describe('addressKey', () => {
  it('takes IPv6 by networks of 64 bits, however they are written', () => {
    const one = addressKey('2001:db8:0:1::1');
    expect(addressKey('2001:db8:0:1:ffff:ffff:ffff:ffff')).toBe(one);
    expect(addressKey('2001:0db8::1:0:0:0:9')).toBe(one);
    expect(addressKey('2001:db8:0:2::1')).not.toBe(one);
    expect(addressKey('::1')).toBe('0:0:0:0::/64');
    expect(addressKey('fe80::1%eth0')).toBe('fe80:0:0:0::/64');
  });

  it('takes IPv4 whole, also inside IPv6', () => {
    expect(addressKey('::ffff:10.1.2.3')).toBe('10.1.2.3');
    expect(addressKey('10.1.2.3')).toBe('10.1.2.3');
    expect(addressKey(undefined)).toBe('unknown');
  });
});
