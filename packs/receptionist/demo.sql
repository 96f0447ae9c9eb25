-- A business of the tenant `default`, which the first key of a gateway belongs to: for a first call. In the pack's own database alone.
SELECT set_config('app.tenant_id', 'default', false);

INSERT INTO businesses (id, name, industry, phone, ai_config, services, working_hours, time_zone, seats) VALUES (
  'default', 'Studio Demo', 'hair salon', '+61 2 5550 0100',
  '{"tone": "warm", "language": "English", "agent_name": "Echo"}',
  '[{"name": "Haircut", "duration_minutes": 30, "price": "45.00"}, {"name": "Colour", "duration_minutes": 90, "price": "140.00"}]',
  '{"monday": [["09:00", "17:00"]], "tuesday": [["09:00", "17:00"]], "wednesday": [["09:00", "17:00"]],
    "thursday": [["09:00", "12:00"], ["13:00", "20:00"]], "friday": [["09:00", "17:00"]], "saturday": [["10:00", "14:00"]]}',
  'Australia/Sydney', 1
) ON CONFLICT DO NOTHING;

INSERT INTO policies (id, topic, content)
SELECT id::uuid, topic, content FROM (VALUES
  ('6f1c1f6e-0001-4000-8000-000000000001', 'cancellation', 'Cancellations within 24 hours of the appointment incur a 50% fee.'),
  ('6f1c1f6e-0001-4000-8000-000000000002', 'late arrival', 'Customers who arrive more than 15 minutes late may have to book again.'),
  ('6f1c1f6e-0001-4000-8000-000000000003', 'deposits', 'Colour appointments take a deposit of 40 dollars, which the bill is reduced by.')
) AS made (id, topic, content)
ON CONFLICT DO NOTHING;

INSERT INTO faqs (id, topic, question, answer, tags)
SELECT id::uuid, topic, question, answer, tags FROM (VALUES
  ('6f1c1f6e-0002-4000-8000-000000000001', 'parking', 'Is there parking available?', 'Yes, street parking is free after 6 pm.', ARRAY['parking', 'location']),
  ('6f1c1f6e-0002-4000-8000-000000000002', 'payment', 'Which cards do you take?', 'All cards, and cash.', ARRAY['payment', 'pricing'])
) AS made (id, topic, question, answer, tags)
ON CONFLICT DO NOTHING;

INSERT INTO bookings (id, customer_name, customer_phone, service, booking_datetime, duration_minutes, ends_at, confirmed_at, price) VALUES (
  '6f1c1f6e-0003-4000-8000-000000000001', 'Sarah M', '+61400111222', 'Haircut',
  '2026-01-24 10:30+00', 30, '2026-01-24 11:00+00', '2026-01-20 09:00+00', 45
) ON CONFLICT DO NOTHING;
