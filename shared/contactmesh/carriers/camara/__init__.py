"""Carriers that speak the CAMARA APIs (camaraproject.org, Apache-2.0): asked, and listened to.

Device Reachability Status 1.1, SIM Swap 2.1, Number Recycling 0.2 and Device Data Volume 0.1, and
the event subscriptions of the first two (0.8 and 0.3).
"""
