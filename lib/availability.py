"""Availability of replicas: stacking, common causes, downtime and nines."""

from __future__ import annotations

import numpy as np

from lib._checks import plain, real, together, whole


def stacked(availability, replicas, common_cause=0.0):
    r"""Return the availability of a service that is up while at least one of its replicas is.

    .. math::

        A_k = (1 - c)\left(1 - (1 - a)^k\right), \qquad
        c = \beta (1 - A), \qquad a = \frac{A}{1 - c}

    Parameters
    ----------
    availability : float or array_like, [dimensionless]
        Availability A of one replica, all causes included, in [0, 1].
    replicas : int or array_like, [dimensionless]
        Number of replicas k, whole numbers from 1.
    common_cause : float or array_like, [dimensionless]
        Beta factor: share beta of one replica's downtime that is common to all of them, in [0, 1]. It is
        the share of its failures that strike all of them, where these last as long as its own.

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
    Theorem D-34 of chapters/foundations/strategies. In the beta-factor model a common outage, of
    probability c, and a replica's own outage, of probability 1 - a, are independent, and A = (1 - c) a.
    One replica has availability A whatever beta is; beta = 0 gives 1 - (1 - A)^k, beta = 1 gives A.
    The factor is mostly defined as a share of failures. Where a common outage lasts r times as long as
    another, the share b of the failures is the share b r / (1 - b + b r) of the downtime.
    Handbooks use the rare-event form of the unavailability, beta q + ((1 - beta) q)^k with
    q = 1 - A. It takes the two kinds of outage as never overlapping, which makes the second term low by
    a share of about (k - 1) beta q: nothing at 99 %, but replicas with A = 0 would make a service that is
    sometimes up. Results within 1e-16 of one are rounded to one.

    Examples
    --------
    >>> round(stacked(0.99, 2), 12)
    0.9999
    >>> round(stacked(0.99, 2, common_cause=0.1), 6)
    0.998919

    References
    ----------
    Fleming (1975), A reliability model for common mode failures in redundant safety systems, General
    Atomic report GA-A13284: the origin of the model. Rausand, Barros, Høyland (2020), System
    reliability theory, 3rd edition, doi:10.1002/9781119373940: the handbook form.
    """
    availability = real("availability", availability, high=1.0)
    replicas = whole("replicas", replicas)
    common_cause = real("common_cause", common_cause, high=1.0)
    availability, replicas, common_cause = together(
        availability=availability, replicas=replicas, common_cause=common_cause)
    with np.errstate(all="ignore"):
        # 1 - c as a sum of positive terms: exact also where beta and 1 - A are close to one, and never
        # below A, because rounding is monotonic
        common_up = (1.0 - common_cause) + common_cause * availability
        alone = np.where(availability > 0.0, availability / common_up, 0.0)
        any_up = -np.expm1(replicas * np.log1p(-alone))
        return plain(np.where(replicas == 1.0, availability, common_up * any_up))


def downtime(availability, period=8760.0):
    r"""Return the expected time down within a period.

    .. math:: (1 - A) \cdot \text{period}

    Parameters
    ----------
    availability : float or array_like, [dimensionless]
        Availability A, in [0, 1].
    period : float or array_like, any time unit
        Length of the period, in [0, inf); the default is a year of 365 days in hours.

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
    Used with Theorem D-34 of chapters/foundations/strategies. An average over many periods: a single
    year may see none of it or several times as much.

    Examples
    --------
    >>> round(downtime(0.99), 1)
    87.6

    References
    ----------
    Barroso, Hölzle, Ranganathan (2019), The datacenter as a computer, 3rd edition,
    doi:10.2200/S00874ED3V01Y201809CAC046.
    """
    availability = real("availability", availability, high=1.0)
    period = real("period", period, open_high=True)
    availability, period = together(availability=availability, period=period)
    with np.errstate(all="ignore"):
        return plain((1.0 - availability) * period)


def nines(availability):
    r"""Return the number of nines of an availability as a real number, 2 for 99 %.

    .. math:: -\log_{10}(1 - A)

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
    Used with Theorem D-34 of chapters/foundations/strategies. The largest float64 below one has
    15.95 nines. Without a common cause k replicas have k times the nines of one; compute it so where
    the availability itself would round to one.

    Examples
    --------
    >>> nines([0.0, 0.9, 1.0]).round(12)
    array([ 0.,  1., inf])

    References
    ----------
    Barroso, Hölzle, Ranganathan (2019), The datacenter as a computer, 3rd edition,
    doi:10.2200/S00874ED3V01Y201809CAC046.
    """
    availability = real("availability", availability, high=1.0)
    with np.errstate(all="ignore"):
        return plain(-np.log1p(-availability) / np.log(10.0))
