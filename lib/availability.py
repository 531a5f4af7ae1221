"""Availability of replicas: stacking, common causes, downtime and nines."""

from __future__ import annotations

import numpy as np

from lib._checks import plain, real, together, whole


def stacked(availability, replicas, common_cause=0.0):
    """Availability of a service that is up while at least one of its replicas is.

    .. math::

        A_k = (1 - c)\\left(1 - (1 - a)^k\\right), \\qquad
        c = \\beta (1 - A), \\qquad a = \\frac{A}{1 - c}

    Parameters
    ----------
    availability : float or array_like, [dimensionless]
        Availability A of one replica, all causes included, in [0, 1].
    replicas : int or array_like, [dimensionless]
        Number of replicas k, whole numbers from 1.
    common_cause : float or array_like, [dimensionless]
        Share beta of one replica's downtime that takes all replicas down together, in [0, 1].

    Returns
    -------
    float or ndarray, [dimensionless]
        The availability of the whole, in [0, 1].

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where an argument is outside its range or the shapes do not broadcast.

    Notes
    -----
    This is the beta-factor model, kept a probability for every A: a common outage (probability c) and each
    replica's own outage (probability 1 - a) are independent events with A = (1 - c) a. One replica
    gives A for every beta; beta = 0 gives 1 - (1 - A)^k; beta = 1 gives A. The handbooks'
    unavailability beta q + ((1 - beta) q)^k, with q = 1 - A, drops the overlap of the two. It
    differs by about (k - 1) beta q ((1 - beta) q)^k, but at A = 0 it would promise some availability.
    Float64 cannot tell results within 1e-16 of one apart.
    Theorem D-34 of chapters/foundations/strategies.

    Examples
    --------
    >>> round(stacked(0.99, 2), 12)
    0.9999
    >>> round(stacked(0.99, 2, common_cause=0.1), 6)
    0.998919

    References
    ----------
    Fleming: A reliability model for common mode failures in redundant safety systems, General Atomic
    report GA-A13284, 1975. Mosleh et al.: Procedures for treating common cause failures in safety
    and reliability studies, NUREG/CR-4780, 1988.
    """
    availability = real("availability", availability, high=1.0)
    replicas = whole("replicas", replicas)
    common_cause = real("common_cause", common_cause, high=1.0)
    availability, replicas, common_cause = together(
        availability=availability, replicas=replicas, common_cause=common_cause)
    # 1 - c, as a sum of what is not negative
    common_up = (1.0 - common_cause) + common_cause * availability
    with np.errstate(all="ignore"):
        alone = np.where(availability > 0.0, np.minimum(availability / common_up, 1.0), 0.0)
        return plain(common_up * -np.expm1(replicas * np.log1p(-alone)))


def downtime(availability, period=8760.0):
    """Expected time down within a period.

    .. math:: D = (1 - A) T

    Parameters
    ----------
    availability : float or array_like, [dimensionless]
        Availability A, in [0, 1].
    period : float or array_like, any time unit
        Length T of the period, in [0, inf); the default is a year of 365 days in hours.

    Returns
    -------
    float or ndarray, time unit of `period`
        The expected downtime.

    Raises
    ------
    TypeError
        Where an argument is not made of real numbers.
    ValueError
        Where an argument is outside its range or the shapes do not broadcast.

    Notes
    -----
    An expectation over many periods; a single year may see none or several times as much.
    Theorem D-34 of chapters/foundations/strategies.

    Examples
    --------
    >>> round(downtime(0.99), 1)
    87.6

    References
    ----------
    Barroso, Hölzle, Ranganathan: The Datacenter as a Computer, 3rd ed., 2019,
    doi:10.2200/S00874ED3V01Y201809CAC046.
    """
    availability = real("availability", availability, high=1.0)
    period = real("period", period, open_high=True)
    availability, period = together(availability=availability, period=period)
    return plain((1.0 - availability) * period)


def nines(availability):
    """Number of nines of an availability, as a real number: 2 for 99 %.

    .. math:: -\\log_{10}(1 - A)

    Parameters
    ----------
    availability : float or array_like, [dimensionless]
        Availability A, in [0, 1].

    Returns
    -------
    float or ndarray, [dimensionless]
        The nines; infinite for an availability of one.

    Raises
    ------
    TypeError
        Where `availability` is not made of real numbers.
    ValueError
        Where `availability` is outside [0, 1] or NaN.

    Notes
    -----
    The largest float64 below one has 15.95 nines.
    Theorem D-34 of chapters/foundations/strategies.

    Examples
    --------
    >>> nines([0.0, 0.9, 1.0]).round(12)
    array([ 0.,  1., inf])

    References
    ----------
    Barroso, Hölzle, Ranganathan: The Datacenter as a Computer, 3rd ed., 2019,
    doi:10.2200/S00874ED3V01Y201809CAC046.
    """
    availability = real("availability", availability, high=1.0)
    with np.errstate(all="ignore"):
        return plain(-np.log1p(-availability) / np.log(10.0))
